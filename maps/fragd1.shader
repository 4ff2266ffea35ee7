// shaders of the arena fragd1
textures/fragd1/sky
{
	qer_editorimage textures/fragd1/sky1.jpg
	surfaceparm sky
	surfaceparm noimpact
	surfaceparm nolightmap
	surfaceparm nomarks
	surfaceparm nodlight
	q3map_sun 1 0.84 0.62 88 236 60
	q3map_skylight 62
	q3map_lightcolor 0.66 0.76 1
	skyparms - 512 -
	{
		map textures/fragd1/sky1.jpg
		tcMod scale 2 2
		tcMod scroll 0.006 0.003
		depthWrite
	}
	{
		map textures/fragd1/sky2.jpg
		blendFunc add
		tcMod scale 3 3
		tcMod scroll 0.02 0.01
	}
}
textures/fragd1/water
{
	qer_editorimage textures/fragd1/water.jpg
	qer_trans 0.5
	surfaceparm water
	surfaceparm trans
	surfaceparm nolightmap
	surfaceparm nomarks
	cull disable
	{
		map textures/fragd1/water.jpg
		blendFunc blend
		alphaGen const 0.5
		rgbGen const ( 0.75 0.85 0.85 )
		tcMod turb 0 0.04 0 0.15
		tcMod scroll 0.01 0.006
	}
}
textures/fragd1/water_nodraw
{
	qer_editorimage textures/fragd1/water.jpg
	surfaceparm water
	surfaceparm trans
	surfaceparm nodraw
}
textures/fragd1/lava
{
	qer_editorimage textures/fragd1/lava.jpg
	surfaceparm lava
	surfaceparm trans
	surfaceparm noimpact
	surfaceparm nolightmap
	q3map_surfacelight 260
	q3map_lightcolor 1 0.42 0.1
	cull disable
	{
		map textures/fragd1/lava.jpg
		tcMod turb 0 0.1 0 0.08
		tcMod scroll 0.01 0.02
	}
}
textures/fragd1/lava_nodraw
{
	qer_editorimage textures/fragd1/lava.jpg
	surfaceparm lava
	surfaceparm trans
	surfaceparm nodraw
}
textures/fragd1/grate
{
	qer_editorimage textures/fragd1/grate.jpg
	surfaceparm metalsteps
	{
		map $lightmap
		rgbGen identity
	}
	{
		map textures/fragd1/grate.jpg
		blendFunc filter
	}
}
textures/fragd1/pad
{
	qer_editorimage textures/fragd1/pad.jpg
	surfaceparm nodamage
	{
		map $lightmap
		rgbGen identity
	}
	{
		map textures/fragd1/pad.jpg
		blendFunc filter
	}
	{
		map textures/fragd1/pad_glow.jpg
		blendFunc add
		rgbGen wave sin 0.6 0.4 0 1.2
	}
}
textures/fragd1/tele
{
	qer_editorimage textures/fragd1/tele.jpg
	surfaceparm nolightmap
	surfaceparm noimpact
	q3map_surfacelight 350
	q3map_lightcolor 0.6 0.45 1
	{
		clampMap textures/fragd1/tele.jpg
		tcMod rotate 80
		rgbGen wave sin 0.85 0.15 0 0.7
	}
}
textures/fragd1/lamp_amber
{
	qer_editorimage textures/fragd1/lamp_amber.jpg
	surfaceparm nonsolid
	surfaceparm trans
	surfaceparm nomarks
	{
		map $lightmap
		rgbGen identity
	}
	{
		map textures/fragd1/lamp_amber.jpg
		blendFunc filter
	}
	{
		map textures/fragd1/glow_amber.jpg
		blendFunc add
	}
}
textures/fragd1/lamp_cyan
{
	qer_editorimage textures/fragd1/lamp_cyan.jpg
	surfaceparm nonsolid
	surfaceparm trans
	surfaceparm nomarks
	{
		map $lightmap
		rgbGen identity
	}
	{
		map textures/fragd1/lamp_cyan.jpg
		blendFunc filter
	}
	{
		map textures/fragd1/glow_cyan.jpg
		blendFunc add
	}
}
textures/fragd1/lamp_white
{
	qer_editorimage textures/fragd1/lamp_white.jpg
	surfaceparm nonsolid
	surfaceparm trans
	surfaceparm nomarks
	{
		map $lightmap
		rgbGen identity
	}
	{
		map textures/fragd1/lamp_white.jpg
		blendFunc filter
	}
	{
		map textures/fragd1/glow_white.jpg
		blendFunc add
	}
}
textures/fragd1/lamp_red
{
	qer_editorimage textures/fragd1/lamp_red.jpg
	surfaceparm nonsolid
	surfaceparm trans
	surfaceparm nomarks
	{
		map $lightmap
		rgbGen identity
	}
	{
		map textures/fragd1/lamp_red.jpg
		blendFunc filter
	}
	{
		map textures/fragd1/glow_red.jpg
		blendFunc add
	}
}
textures/fragd1/slime
{
	qer_editorimage textures/fragd1/slime.jpg
	qer_trans 0.7
	surfaceparm slime
	surfaceparm trans
	surfaceparm nolightmap
	surfaceparm nomarks
	q3map_surfacelight 60
	q3map_lightcolor 0.5 1 0.2
	cull disable
	{
		map textures/fragd1/slime.jpg
		blendFunc blend
		alphaGen const 0.75
		tcMod turb 0 0.06 0 0.1
		tcMod scroll 0.01 0.01
	}
}
textures/fragd1/slime_nodraw
{
	qer_editorimage textures/fragd1/slime.jpg
	surfaceparm slime
	surfaceparm trans
	surfaceparm nodraw
}
